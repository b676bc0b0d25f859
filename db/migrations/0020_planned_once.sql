-- The functions of a commit are planned once for each connection, and look each customer of the journal up by its id.
-- Functions: 59d36efbf47414de965982fcc9185947cf02a0964ce7ab7eb2347926852f23bd
SELECT 1;
