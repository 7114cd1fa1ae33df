"""Operations of prediction markets."""
