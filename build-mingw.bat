@echo off
rem Builds build\programs\ledgerd\ledgerd.cmd on Windows. Needs Python 3.11 or later (python.org), on the PATH or named
rem by PYTHON. BOOST_ROOT and OPENSSL_ROOT_DIR are asked for as by the build of the reference; nothing in them is used.
setlocal
if not defined BOOST_ROOT (
    echo build-mingw.bat: set BOOST_ROOT to the directory that Boost is installed in 1>&2
    exit /b 1
)
if not defined OPENSSL_ROOT_DIR (
    echo build-mingw.bat: set OPENSSL_ROOT_DIR to the directory that OpenSSL is installed in 1>&2
    exit /b 1
)
if not defined PYTHON set PYTHON=py -3
%PYTHON% -c "import sys; sys.exit(sys.version_info < (3, 11))"
if errorlevel 1 (
    echo build-mingw.bat: there is no Python of 3.11 or later: install one, or name it in PYTHON 1>&2
    exit /b 1
)
%PYTHON% "%~dp0scripts\build_program.py" build-mingw.bat %*
exit /b %ERRORLEVEL%
