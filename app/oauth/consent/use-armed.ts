import { useEffect, useState } from 'react';

const SHOWN_MS = 700;

/**
 * False until the page has been in front for a moment, and again whenever it comes to the front: another site could put
 * it under the second click of a double-click.
 */
export function useArmed(): boolean {
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    let timer: number | undefined;
    const arm = () => {
      window.clearTimeout(timer);
      setArmed(false);
      timer = window.setTimeout(() => setArmed(true), SHOWN_MS);
    };
    arm();
    window.addEventListener('focus', arm);
    document.addEventListener('visibilitychange', arm);
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener('focus', arm);
      document.removeEventListener('visibilitychange', arm);
    };
  }, []);
  return isArmed;
}
