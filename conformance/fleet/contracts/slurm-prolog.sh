#!/bin/sh
# Prolog of slurm.conf. Slurm drains the node and requeues the job if this ends with anything but 0: only for a violated rule.
timeout 15 pdl fleet health --format slurm --limit 10 >/dev/null 2>&1
[ $? -ne 1 ]
