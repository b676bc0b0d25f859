'use client';

import { useRouter } from 'next/navigation';
import { useEffect } from 'react';

const FIRST_MS = 250;
const LONGEST_MS = 2000;

/** Reloads a page's data while a job runs. Starts with short intervals, because most jobs are short. */
export function RefreshWhile({ running }: { running: boolean }) {
  const router = useRouter();
  useEffect(() => {
    if (!running) return;
    let wait = FIRST_MS;
    const refresh = () => {
      router.refresh();
      wait = Math.min(2 * wait, LONGEST_MS);
      timer = setTimeout(refresh, wait);
    };
    let timer = setTimeout(refresh, wait);
    return () => clearTimeout(timer);
  }, [running, router]);
  return null;
}
