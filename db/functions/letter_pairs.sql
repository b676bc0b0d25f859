-- The letters of a text, and each two that follow one another, some of them twice: for texts too short for trigrams.
CREATE OR REPLACE FUNCTION letter_pairs(searched text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT letters || array(SELECT letter || coalesce(next, '') FROM unnest(letters, letters[2:]) AS pairs (letter, next))
  FROM (SELECT string_to_array(searched, NULL) AS letters) one
$$;
