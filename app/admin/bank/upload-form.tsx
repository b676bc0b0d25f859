'use client';

import { Text } from '@mantine/core';
import { useRouter } from 'next/navigation';
import { UPLOAD_PATH } from '@/lib/uploads/upload-limits';
import type { FormField } from '../_components/forms/field';
import { ActionForm, type FormState } from '../_components/forms/form';

/**
 * Shows the form that uploads a bank statement. It sends the file to the upload route, because a server action accepts
 * at most one megabyte.
 */
export function UploadForm({ fields }: { fields: FormField[] }) {
  const router = useRouter();
  const upload = async (_before: FormState, form: FormData): Promise<FormState> => {
    const answer = await sendFile(form);
    if ('id' in answer) {
      const notice = answer.isKnown ? 'known' : answer.booked > 0 ? 'ruled' : 'uploaded';
      router.push(`/admin/bank/${answer.id}?notice=${notice}`);
      return { typed: {}, problems: {} };
    }
    return { typed: { account: form.get('account') }, problems: problemsOf(answer) };
  };
  return (
    <ActionForm label="Upload a statement" action={upload} fields={fields} submit="Upload">
      <noscript>
        <Text size="sm">Uploading needs JavaScript.</Text>
      </noscript>
    </ActionForm>
  );
}

type Answer =
  | { id: number; isKnown: boolean; booked: number }
  | { detail?: string; errors?: { field: string; message: string }[] };

async function sendFile(form: FormData): Promise<Answer> {
  const file = form.get('file');
  const account = form.get('account');
  if (!(file instanceof File)) return {};
  const query = { kind: 'bank_statement', name: file.name, ...(account && { account: String(account) }) };
  try {
    const answer = await fetch(`${UPLOAD_PATH}?${new URLSearchParams(query)}`, {
      method: 'POST',
      body: file,
    });
    return (await answer.json()) as Answer;
  } catch {
    return {};
  }
}

/** Returns the error message for the file field. Any other error becomes a message for the form as a whole. */
function problemsOf({ detail, errors = [] }: Exclude<Answer, { id: number }>): FormState['problems'] {
  const [first] = errors;
  if (first?.field === 'file') return { file: first.message };
  return { '': detail ?? 'The upload was interrupted: try again.' };
}
