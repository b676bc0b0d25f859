'use client';

import { Failure, type FailureProps } from '../_components/failure';

export default function AdminFailure(props: FailureProps) {
  return <Failure {...props} component="div" />;
}
