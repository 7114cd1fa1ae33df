"""Rules about validators: votes, medians, slots, the emergency."""
