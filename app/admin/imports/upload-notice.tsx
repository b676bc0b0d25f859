import { Notice } from '../_components/page/notice';

/** What came of removing a file, or of looking for it. */
export function UploadNotice({ notice }: { notice: string | null }) {
  if (notice === 'removed') return <Notice tone="done">The file is removed.</Notice>;
  if (notice === 'gone') return <Notice tone="refused">The file no longer exists: upload it again.</Notice>;
  return null;
}
