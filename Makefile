# Each target is a script of the same name in scripts/, which can be run as well without make.
.PHONY: run test check bench docs pictures site
run test check bench docs pictures site:
	@scripts/$@
