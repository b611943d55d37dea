"""The Python side of the PDL conformance kit: rules, children, verdicts, reports."""
