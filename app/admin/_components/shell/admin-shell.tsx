'use client';

import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import dynamic from 'next/dynamic';
import { usePathname, useSearchParams } from 'next/navigation';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Brand, Link } from '@/app/_components/links';
import { noteQuery } from '../page/back-link';
import { isCurrent, navigationFor } from '../page/navigation';
import { isNavigation, isSearch, watchForms } from '../page/unsaved-forms';
import { KeysDialog, SearchDialog, SearchTrigger, useSearchKey } from '../search/search-dialog';
import classes from './shell.module.css';
import { UserButton } from './user-button';

interface AdminShellProps {
  user: { name: string; email: string };
  isAdmin: boolean;
  children: ReactNode;
}

export function AdminShell({ user, isAdmin, children }: AdminShellProps) {
  const [opened, { toggle, close }] = useDisclosure();
  const [searching, search] = useDisclosure();
  const [listingKeys, keys] = useDisclosure();
  useSearchKey(search.toggle, keys.open);
  const pathname = usePathname();
  const burger = useRef<HTMLButtonElement>(null);
  const leave = () => {
    close();
    burger.current?.focus();
  };
  return (
    <AppShell
      header={{ height: { base: 56, sm: 0 } }}
      navbar={{ width: 236, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      transitionDuration={0}
    >
      <a href="#content" className={classes.skip}>
        Skip to content
      </a>
      <a href="#list" className={`${classes.skip} ${classes.toList}`}>
        Skip to the list
      </a>
      <Suspense>
        <NavigationProgress />
        <PageMemory />
      </Suspense>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Link href="/admin" className={classes.brand} onClick={close}>
            <Brand />
          </Link>
          <Group gap="xs" wrap="nowrap">
            <SearchTrigger open={search.open} compact />
            <Burger
              ref={burger}
              opened={opened}
              onClick={toggle}
              size="sm"
              aria-label="Navigation"
              aria-expanded={opened}
            />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        className={`${classes.navbar} ${opened ? '' : classes.closed}`}
        p="sm"
        onKeyDown={(event) => {
          if (event.key === 'Escape' && opened) leave();
        }}
        onBlur={({ currentTarget, relatedTarget }) => {
          const next = relatedTarget;
          if (!opened || !next || next === burger.current) return;
          // The account menu is rendered outside of the navigation. Focus in the menu must not close the navigation.
          if (!currentTarget.contains(next) && !next.closest('[role="menu"]')) close();
        }}
      >
        <Link href="/admin" className={`${classes.brand} mantine-visible-from-sm`}>
          <Brand />
        </Link>
        <div className={classes.search}>
          <SearchTrigger open={search.open} />
        </div>
        <nav aria-label="Main" className={classes.groups}>
          {navigationFor(isAdmin).map((group) => (
            <section key={group.label} aria-label={group.label}>
              <p className={classes.group} aria-hidden>
                {group.label}
              </p>
              {group.entries.map(({ href, label, icon: Icon }) => (
                <Link
                  key={href}
                  href={href}
                  aria-current={isCurrent(href, pathname) ? 'page' : undefined}
                  className={classes.link}
                  onClick={close}
                >
                  <Icon size={18} stroke={1.6} aria-hidden />
                  {label}
                </Link>
              ))}
            </section>
          ))}
        </nav>
        <UserMenu {...user} onLeave={close} />
      </AppShell.Navbar>
      <AppShell.Main id="content" className={classes.main}>
        <div className={classes.content}>{children}</div>
      </AppShell.Main>
      <KeysDialog opened={listingKeys} close={keys.close} />
      <SearchDialog isAdmin={isAdmin} opened={searching} close={search.close} />
    </AppShell>
  );
}

/** The progress bar disappears after this time even if no page has loaded, because the click may start a download. */
const PATIENCE_MS = 8000;

/** Shows a progress bar after a click on a link or the start of a search, until the next page has loaded. */
function NavigationProgress() {
  const here = `${usePathname()}?${useSearchParams()}`;
  const [left, setLeft] = useState<string>();
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      if (isNavigation(event)) setLeft(here);
    };
    const onSubmit = ({ target }: SubmitEvent) => {
      if (target instanceof HTMLFormElement && isSearch(target)) setLeft(here);
    };
    document.addEventListener('click', onClick, { capture: true });
    document.addEventListener('submit', onSubmit, { capture: true });
    return () => {
      document.removeEventListener('click', onClick, { capture: true });
      document.removeEventListener('submit', onSubmit, { capture: true });
    };
  }, [here]);
  useEffect(() => {
    if (left === undefined) return;
    // Forget the left page when the next one arrives. Going back to it loads nothing, so it must show no progress bar.
    if (left !== here) return setLeft(undefined);
    const patience = setTimeout(() => setLeft(undefined), PATIENCE_MS);
    return () => clearTimeout(patience);
  }, [left, here]);
  return left === here ? <div className={classes.progress} aria-hidden /> : null;
}

/**
 * Stores the query of each page for links back to it, and asks for confirmation before a person leaves a form with
 * unsaved values.
 */
function PageMemory() {
  const [pathname, search] = [usePathname(), useSearchParams()];
  useEffect(() => noteQuery(pathname, search), [pathname, search]);
  useEffect(watchForms, []);
  return null;
}

interface UserMenuProps {
  name: string;
  email: string;
  /** Called when the person opens the account page. */
  onLeave(): void;
}

/** The account menu. Its code is loaded only when the button is pressed, because the positioning library is large. */
const OpenedUserMenu = dynamic(() => import('./opened-user-menu').then((part) => part.OpenedUserMenu));

function UserMenu({ name, email, onLeave }: UserMenuProps) {
  const [asked, setAsked] = useState(false);
  if (asked) return <OpenedUserMenu {...{ name, email, onLeave }} />;
  return (
    <UserButton
      {...{ name, email }}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setAsked(true)}
    />
  );
}
