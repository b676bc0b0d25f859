import type * as React from 'react';
import type { System } from './swagger-system';

interface Sample {
  label: string;
  source: string;
}

interface Parts {
  /** Of the operation: its path and its method. */
  pathMethod: [path: string, method: string];
}

/** How an operation is called, above its parameters. */
export function withSamples(Parameters: React.ElementType, system: System) {
  const h = system.React.createElement;
  return (props: Parts) =>
    h(
      system.React.Fragment,
      null,
      h(CodeSamples, { system, samples: samplesOf(system, props.pathMethod) }),
      h(Parameters, props),
    );
}

function samplesOf({ specSelectors }: System, [path, method]: Parts['pathMethod']): Sample[] {
  const samples: Sample[] =
    specSelectors.specJson().getIn(['paths', path, method, 'x-codeSamples'])?.toJS() ?? [];
  return samples.map(({ label, source }) => ({
    label,
    source: source.replaceAll('https://admin.example.com', window.location.origin),
  }));
}

function CodeSamples({ system: { React }, samples }: { system: System; samples: Sample[] }) {
  const h = React.createElement;
  const [chosen, choose] = React.useState(0);
  const [isCopied, setCopied] = React.useState(false);
  const sample = samples[chosen];
  if (!sample) return null;
  const tab = ({ label }: Sample, i: number) =>
    h(
      'button',
      {
        key: label,
        type: 'button',
        className: 'btn',
        'aria-pressed': i === chosen,
        onClick: () => {
          choose(i);
          setCopied(false);
        },
      },
      label,
    );
  const copy = () => navigator.clipboard.writeText(sample.source).then(() => setCopied(true));
  return h(
    'div',
    { className: 'code-samples' },
    h(
      'div',
      { className: 'code-samples-head' },
      h('h4', null, 'Example'),
      h('div', { role: 'group', 'aria-label': 'Language' }, samples.map(tab)),
      h('button', { type: 'button', className: 'btn', onClick: copy }, isCopied ? 'Copied' : 'Copy'),
    ),
    h('pre', { tabIndex: 0 }, sample.source),
  );
}
