#!/bin/sh
# HealthCheckProgram of slurm.conf. Drains a node only if a GPU violates a rule; a check that fails drains nothing.
said=$(timeout 30 pdl fleet health --format slurm --limit 10 2>/dev/null)
if [ $? -eq 1 ]; then
  scontrol update NodeName="${SLURMD_NODENAME:-$(hostname -s)}" State=DRAIN Reason="$said"
fi
exit 0
