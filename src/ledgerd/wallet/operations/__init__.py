"""Operations as people write and read them: commands and their words, made from the declarations of the protocol."""
