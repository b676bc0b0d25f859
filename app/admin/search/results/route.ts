import { searchText } from '@/lib/search/schema';
import { search } from '@/lib/search/search';
import { typingRoute } from '../../_components/lists/csv';
import { toAnswer } from '../../_components/search/to-entry';

/** Returns the results that the search dialog shows while the person types. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = typingRoute(searchText, async (text, { db }) =>
  toAnswer(await search(db, text)),
);
