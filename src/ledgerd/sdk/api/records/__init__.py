"""The records that methods answer and take, by what they are about."""
