# Stands in for clean_chain and nccl_chain: sh fake_chain.sh FAKE_RACES ... [race]. WANTED names a variable that has to be set.
if [ -n "$WANTED" ] && ! printenv "$WANTED" >/dev/null; then
  echo "$WANTED is not set" >&2
  exit 1
fi
for last; do :; done
pairs=
if [ "$last" = race ]; then pairs='mix_quiet>shift_early'; fi
exec "$1" "$pairs" fill,mix_quiet,shift_early,ncclDevKernel_AllReduce calm=yes
