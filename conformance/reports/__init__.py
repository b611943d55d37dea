"""What is made from a report.json: pages, comparisons, the public record, and the check of a submission."""
