import { MAX_UPLOAD_BYTES, UPLOAD_PATH } from '@/lib/uploads/upload-limits';

type Answer = { id: string } | { problem: string };

const BROKEN = 'The upload was interrupted: try again.';

/** Uploads a file. A file that is too large is not sent. @param onPercent is called with the progress */
export function sendFile(file: File, kind: string, onPercent: (percent: number) => void): Promise<Answer> {
  if (file.size > MAX_UPLOAD_BYTES) {
    const problem = `${file.name} is larger than ${MAX_UPLOAD_BYTES / 1e6} MB: import it with npm run import -- ${kind} FILE.csv.`;
    return Promise.resolve({ problem });
  }
  return new Promise((resolve) => {
    const request = new XMLHttpRequest(); // fetch does not tell how far it is
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
