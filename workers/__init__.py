"""Worker: scores queued submissions. The only process that reads hidden labels."""

WRONG_CONFIGURATION = 78  # exit code of a worker that no restart would help (EX_CONFIG of sysexits.h)
