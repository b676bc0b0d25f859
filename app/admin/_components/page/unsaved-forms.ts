/** The values of each form before the first change, or after the last successful action. */
const before = new WeakMap<HTMLFormElement, string>();
/** Submitted forms that still wait for their response. The response may redirect without asking for confirmation. */
const sending = new WeakSet<HTMLFormElement>();

/** Asks for confirmation if a form has unsaved values. @returns false if the person wants to stay */
export function mayLeave(): boolean {
  return !isUnsaved() || window.confirm('Leave this page? What you typed is not saved.');
}

/** Asks before a person leaves or reloads a page with unsaved values. @returns a function that stops watching */
export function watchForms(): () => void {
  const end = new AbortController();
  const { signal } = end;
  for (const type of ['focusin', 'pointerdown'] as const) {
    window.addEventListener(type, noteBefore, { capture: true, signal });
  }
  window.addEventListener('submit', noteSending, { capture: true, signal });
  window.addEventListener('reset', noteAnswer, { capture: true, signal });
  window.addEventListener('click', askAtLink, { capture: true, signal });
  window.addEventListener(
    'beforeunload',
    (event) => isUnsaved((form) => !sending.has(form)) && event.preventDefault(),
    {
      signal,
    },
  );
  navigationOf(window)?.addEventListener('navigate', askAtTraversal, { signal });
  return () => end.abort();
}

/** Returns true for a plain click on a link to another page of this site. */
export function isNavigation(event: MouseEvent): boolean {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return false;
  return isElsewhere(link);
}

/** Returns true for a form that opens a page by GET. Other forms run an action. */
export function isSearch(form: HTMLFormElement): boolean {
  return form.method === 'get' && form.getAttribute('action')?.startsWith('/') === true;
}

const isElsewhere = ({ pathname, search }: Pick<URL, 'pathname' | 'search'>) =>
  pathname + search !== location.pathname + location.search;

function isUnsaved(counts: (form: HTMLFormElement) => boolean = () => true): boolean {
  return [...document.forms].some((form) => {
    const values = before.get(form);
    const isChanged = values !== undefined && values !== valuesOf(form);
    return (isChanged || form.querySelector('[data-unsaved]') !== null) && counts(form);
  });
}

function noteBefore({ target }: Event): void {
  const form = target instanceof Element ? target.closest('form') : null;
  if (form && !isSearch(form) && !before.has(form)) before.set(form, valuesOf(form));
}

function noteSending({ target }: Event): void {
  if (target instanceof HTMLFormElement) sending.add(target);
}

/** Handles React's reset after a form's action. If the form shows no error, its values count as saved. */
function noteAnswer({ target }: Event): void {
  if (!(target instanceof HTMLFormElement)) return;
  setTimeout(() => {
    sending.delete(target);
    if (!target.querySelector('[aria-invalid="true"], [role="alert"]')) before.set(target, valuesOf(target));
  });
}

function askAtLink(event: MouseEvent): void {
  if (!isNavigation(event) || mayLeave()) return;
  event.preventDefault();
  event.stopPropagation();
}

/** Returns the values of a form without the hidden field `opened` and React's `$` fields. */
function valuesOf(form: HTMLFormElement): string {
  const fields = [...new FormData(form)].filter(([name]) => !name.startsWith('$') && name !== 'opened');
  return JSON.stringify(fields.map(([name, value]) => [name, value instanceof File ? value.name : value]));
}

/** Event of the Navigation API for any navigation. TypeScript's DOM types do not contain it. */
interface NavigateEvent extends Event {
  navigationType: 'push' | 'reload' | 'replace' | 'traverse';
  destination: { url: string; sameDocument: boolean };
}

function askAtTraversal(event: Event): void {
  const { navigationType, destination, cancelable } = event as NavigateEvent;
  // If the traversal loads another document, the `beforeunload` handler asks for confirmation.
  if (navigationType !== 'traverse' || !destination.sameDocument || !cancelable) return;
  if (isElsewhere(new URL(destination.url)) && !mayLeave()) event.preventDefault();
}

/** Returns the Navigation API. Undefined in browsers without it, where going back within the app asks nothing. */
const navigationOf = (owner: Window): EventTarget | undefined =>
  'navigation' in owner ? (owner.navigation as EventTarget) : undefined;
