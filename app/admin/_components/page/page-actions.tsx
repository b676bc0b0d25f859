'use client';

import { Button } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { Children, type MouseEvent, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import classes from './page-actions.module.css';

interface Props {
  /** The most important action, shown as a button before the menu. */
  primary?: ReactNode;
  /** Less common actions. They share a menu with `grave`. A single action is shown without a menu. */
  children?: ReactNode;
  /** Actions that are hard or impossible to undo. They are last in the menu, below a line. */
  grave?: ReactNode;
}

/** Shows the actions of a page: a primary button, and a menu of other actions that works without JavaScript. */
export function PageActions({ primary, children, grave }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  useOpenDetails(frame);
  const [usual, last] = [Children.toArray(children), Children.toArray(grave)];
  const count = usual.length + last.length;
  return (
    <div ref={frame} className={classes.actions} data-actions>
      {primary}
      {count === 1 && [...usual, ...last]}
      {count > 1 && (
        <details className={classes.menu} data-menu>
          <Button
            component="summary"
            variant="default"
            size="sm"
            rightSection={<IconChevronDown size={14} stroke={1.8} aria-hidden />}
          >
            More
          </Button>
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: pressing Enter on an entry also fires a click */}
          {/* biome-ignore lint/a11y/noStaticElementInteractions: it only observes clicks on its entries */}
          <div className={classes.panel} onClick={close}>
            {usual}
            {usual.length > 0 && last.length > 0 && <hr className={classes.line} />}
            {last.length > 0 && <div className={classes.grave}>{last}</div>}
          </div>
        </details>
      )}
    </div>
  );
}

/** Closes the menu and moves the focus to its button, so that a dialog opened from the menu returns the focus there. */
function close({ currentTarget, target }: MouseEvent): void {
  if (!(target instanceof Element) || !target.closest('a, button[type="button"]')) return;
  const menu = currentTarget.closest('details');
  menu?.querySelector('summary')?.focus();
  menu?.removeAttribute('open');
}

/** Closes each open `details` element inside `frame` when a person presses Escape or clicks outside of the element. */
export function useOpenDetails(frame: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const close = (except: EventTarget | null) => {
      for (const one of frame.current?.querySelectorAll('details[open]') ?? []) {
        if (!(except instanceof Node && one.contains(except))) one.removeAttribute('open');
      }
    };
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      frame.current?.querySelector<HTMLElement>('details[open] > summary')?.focus();
      close(null);
    };
    const point = (event: PointerEvent) => close(event.target);
    document.addEventListener('keydown', press);
    document.addEventListener('pointerdown', point);
    return () => {
      document.removeEventListener('keydown', press);
      document.removeEventListener('pointerdown', point);
    };
  }, [frame]);
}
