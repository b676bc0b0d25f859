'use client';

import Failure, { type FailureProps } from '../error';

export default function AdminFailure(props: FailureProps) {
  return <Failure {...props} component="div" />;
}
