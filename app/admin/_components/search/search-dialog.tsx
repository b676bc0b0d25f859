'use client';

import dynamic from 'next/dynamic';
import { PageDialog } from './page-dialog';

/** Every page has the dialog; who opens it loads what is in it. */
const SearchBox = dynamic(() => import('./search-box').then((part) => part.SearchBox));

interface Props {
  isAdmin: boolean;
  opened: boolean;
  close(): void;
}

/** The search over the page. */
export function SearchDialog({ isAdmin, opened, close }: Props) {
  return (
    <PageDialog label="Search" opened={opened} close={close}>
      {opened && <SearchBox isAdmin={isAdmin} close={close} />}
    </PageDialog>
  );
}
