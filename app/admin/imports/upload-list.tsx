import type { Upload } from '@/lib/uploads/upload-store';
import { formatKind, formatSize } from '../../_components/format';
import { Instant } from '../_components/display/instant';
import { RecordList } from '../_components/lists/record-list';

/** The files that wait. */
export function UploadList({ uploads, timeZone }: { uploads: Upload[]; timeZone: string }) {
  return (
    <RecordList
      label="Uploaded files"
      rows={uploads}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/admin/imports/${id}`}
      columns={[
        { label: 'File', cell: (upload) => upload.file_name, wraps: true },
        { label: 'Kind', width: '18%', cell: (upload) => formatKind(upload.kind) },
        { label: 'Size', width: '12%', align: 'right', cell: (upload) => formatSize(upload.bytes) },
        {
          label: 'Uploaded',
          width: '22%',
          cell: (upload) => <Instant at={upload.uploaded_at} timeZone={timeZone} />,
        },
        { label: 'By', width: '22%', cell: (upload) => upload.uploaded_by },
      ]}
      entryOf={(upload) => ({
        title: upload.file_name,
        detail: `${formatKind(upload.kind)} · ${upload.uploaded_by}`,
        figure: formatSize(upload.bytes),
      })}
    />
  );
}
