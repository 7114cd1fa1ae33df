"""Operations that move tokens and shares."""
