"""Operations on accounts, and what they publish."""
