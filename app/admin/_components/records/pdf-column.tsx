import { Anchor } from '@mantine/core';
import type { Column } from '../lists/record-list';

/**
 * Makes the column of a list that links the PDF of each record.
 *
 * @param of returns the number of a record and the address of its PDF, or null if it has none
 */
export function pdfColumn<Row>(of: (row: Row) => { number: string; path: string } | null): Column<Row> {
  return {
    label: 'PDF',
    width: '6%',
    cell(row) {
      const file = of(row);
      if (!file) return null;
      return (
        <Anchor href={file.path} size="sm" aria-label={`PDF of ${file.number}`}>
          PDF
        </Anchor>
      );
    },
  };
}
