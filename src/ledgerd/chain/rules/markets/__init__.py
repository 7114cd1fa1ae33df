"""Rules about prediction markets that operations and the step of the block share (spec 08, section 3; spec 09, 7)."""
