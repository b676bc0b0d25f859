-- The series there are, as they look until somebody sets them.
INSERT INTO number_series (name, prefix, with_year, width) VALUES
  ('invoice', '', true, 6),
  ('offer', 'AN-', true, 4),
  ('order_confirmation', 'AB-', true, 4),
  ('service', 'S', false, 5)
  ON CONFLICT (name) DO NOTHING;
