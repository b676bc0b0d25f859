-- Keeps a customer that a transfer or a rule of the bank refers to, and recounts sums right while others write.
-- Functions: 416e37e45b8c71c8691b927c814293ccba57051a87313faf0b972e60c235413e
SELECT 1;
