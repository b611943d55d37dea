#!/bin/sh
# nvdisasm takes most of a second to begin, and tests ask it about the same few images hundreds of times: here it is asked once
# for each image and options. What it could not read is asked again each time.
#   KEPT_NVDISASM=the program  KEPT_LISTINGS=a folder of one test run, both set by the script that reads this one
content() {
  for argument in "$@"; do
    if [ -f "$argument" ]; then cat -- "$argument"; else printf '%s\n' "$argument"; fi
  done
}
key=$(content "$@" | sha256sum) || exec "$KEPT_NVDISASM" "$@"
kept=$KEPT_LISTINGS/${key%% *}
if [ ! -f "$kept" ]; then
  draft=$kept.$$
  "$KEPT_NVDISASM" "$@" >"$draft" || { code=$?; cat "$draft"; rm -f "$draft"; exit "$code"; }
  mv "$draft" "$kept"
fi
exec cat "$kept"
