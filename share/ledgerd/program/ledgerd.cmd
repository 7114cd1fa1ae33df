@echo off
rem Starts ledgerd from the directory that this file lies in. LEDGERD_PYTHON chooses another Python of the same version.
setlocal
set /p VERSION=<"%~dp0interpreter"
if not defined LEDGERD_PYTHON set LEDGERD_PYTHON=py -%VERSION%
set PYTHONHOME=
set PYTHONPATH=%~dp0lib
set PYTHONSAFEPATH=1
set PYTHONNOUSERSITE=1
%LEDGERD_PYTHON% -m ledgerd.cli %*
exit /b %ERRORLEVEL%
