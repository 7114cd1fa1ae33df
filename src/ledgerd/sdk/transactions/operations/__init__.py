"""Operations as methods with typed parameters, generated from their declarations."""
