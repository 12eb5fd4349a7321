#!/bin/sh
# Starts Chromium with its standard error in a file: Playwright reads that stream, but does not pass it on.
exec "$SOTTO_CHROMIUM_PATH" "$@" 2>> "$SOTTO_CHROMIUM_LOG"
