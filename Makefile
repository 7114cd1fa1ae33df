# Each target is a script of the same name in scripts/, which can be run as well without make.
.PHONY: run test check bench docs
run test check bench docs:
	@scripts/$@
