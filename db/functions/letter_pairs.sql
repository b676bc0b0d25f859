-- The letters of a text, and each two that follow one another: for texts too short for trigrams.
CREATE OR REPLACE FUNCTION letter_pairs(searched text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT array(
    SELECT DISTINCT part FROM (
      SELECT letter || coalesce(lead(letter) OVER (ORDER BY place), '') AS pair, letter
      FROM unnest(string_to_array(searched, NULL)) WITH ORDINALITY AS letters (letter, place)
    ) pairs, LATERAL (VALUES (letter), (pair)) AS parts (part)
  )
$$;
