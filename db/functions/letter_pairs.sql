-- The letters of a text, and each two that follow one another, some of them twice: for texts too short for trigrams.
-- Not in SQL: PostgreSQL would plan it for each statement that inserts a customer.
CREATE OR REPLACE FUNCTION letter_pairs(searched text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  letters text[] := string_to_array(searched, NULL);
BEGIN
  RETURN letters || array(SELECT letter || coalesce(next, '') FROM unnest(letters, letters[2:]) AS pairs (letter, next));
END $$;
