'use client';

import { Button, Fieldset, NativeSelect, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useRouter } from 'next/navigation';
import { type FormEvent, useState } from 'react';
import { MAX_UPLOAD_BYTES, UPLOAD_PATH } from '@/lib/uploads/upload-limits';
import { ProblemAlert } from '../../_components/problem-alert';

/** Shows the form that uploads a CSV file. After the upload, it opens the page that imports the file. */
export function UploadForm({ kinds }: { kinds: { value: string; label: string }[] }) {
  const router = useRouter();
  const [percent, setPercent] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const file = fields.get('file');
    if (!(file instanceof File)) return;
    setProblem(null);
    setPercent(0);
    const answer = await sendFile(file, String(fields.get('kind')), setPercent);
    setPercent(null);
    if ('id' in answer) router.push(`/admin/imports/${answer.id}`);
    else setProblem(answer.problem);
  }

  return (
    <form onSubmit={submit} aria-label="Upload">
      <Fieldset legend="Upload a file" radius="lg">
        <Stack gap="md" maw={480}>
          <noscript>
            <Text size="sm">Uploading needs JavaScript; the command npm run import does not.</Text>
          </noscript>
          <ProblemAlert problem={problem} />
          <NativeSelect
            name="kind"
            label="Kind"
            description="Import in this order, so that each file finds the records it refers to."
            data={kinds}
          />
          <TextInput
            name="file"
            type="file"
            accept=".csv,.txt,text/csv"
            label="CSV file"
            description="Up to 200 MB. It is removed after a day."
            required
            withAsterisk={false}
          />
          {percent !== null && (
            <Progress value={percent} aria-label="Progress of the upload" animated transitionDuration={200} />
          )}
          <Button type="submit" loading={percent !== null} w="fit-content">
            Upload
          </Button>
        </Stack>
      </Fieldset>
    </form>
  );
}

type Answer = { id: string } | { problem: string };

const BROKEN = 'The upload was interrupted: try again.';

/**
 * Uploads a file. Returns a problem if the file is too large or the upload fails.
 *
 * @param onPercent called with the progress, from 0 to 100
 */
function sendFile(file: File, kind: string, onPercent: (percent: number) => void): Promise<Answer> {
  if (file.size > MAX_UPLOAD_BYTES) {
    const problem = `${file.name} is larger than ${MAX_UPLOAD_BYTES / 1e6} MB: import it with npm run import -- ${kind} FILE.csv.`;
    return Promise.resolve({ problem });
  }
  return new Promise((resolve) => {
    const request = new XMLHttpRequest(); // `fetch` does not report upload progress.
    request.open('POST', `${UPLOAD_PATH}?${new URLSearchParams({ kind, name: file.name })}`);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onPercent((100 * loaded) / total);
    request.onerror = () => resolve({ problem: BROKEN });
    request.onload = () => resolve(toAnswer(request.response));
    request.send(file);
  });
}

function toAnswer(answer: { id?: string; detail?: string } | null): Answer {
  return answer?.id ? { id: answer.id } : { problem: answer?.detail ?? BROKEN };
}
