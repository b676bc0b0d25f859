import type { FilterField } from './filter-field';

/** Whose records a list shows, the same in every list. */
export const customerField: FilterField = {
  name: 'customer',
  label: 'Customer',
  placeholder: 'Number, name, e-mail',
};
