import { type Answer, only, type Question } from './question';

/**
 * Returns arguments that select the services on a server. Finds the server's id in the previous answer, a list of
 * servers.
 */
const on = ({ data }: Answer, hostname: string) => ({
  server_id: only(
    data.filter((server) => server.hostname === hostname),
    ({ id }) => id,
  ),
});

/** Reads a column of a server. It is the server of the only service in the first answer. */
const ofService = ({ data: servers }: Answer, { data: services }: Answer, column: Column) => {
  const wanted = only(services, ({ server_id }) => server_id);
  return only(
    servers.filter(({ id }) => id === wanted),
    (server) => server[column],
  );
};

type Column = 'hostname' | 'operating_system';

/** Questions about servers and the services on them. */
export const SERVER_QUESTIONS: Question[] = [
  {
    id: 'server-of-s20100',
    language: 'de',
    kind: 'steps',
    text: 'Auf welchem Server liegt der Dienst S20100? (Hostname)',
    plan: [
      ['list-services-tool', { service_number: 'S20100', fields: ['server_id'] }],
      ['list-servers-tool', { fields: ['id', 'hostname'] }],
    ],
    figure: (servers, services) => ofService(servers, services, 'hostname'),
    golden: `select m.hostname from customer_services v join servers m on m.id = v.server_id
      where v.service_number = 'S20100'`,
  },
  {
    id: 'system-under-ehlers',
    language: 'en',
    kind: 'steps',
    text: 'Which operating system runs under blog.fahrradhaus-ehlers.example?',
    plan: [
      [
        'list-services-tool',
        { domain: 'blog.fahrradhaus-ehlers.example', fields: ['domain', 'status', 'server_id'] },
      ],
      ['list-servers-tool', { fields: ['id', 'operating_system'] }],
    ],
    figure: (servers, services) => ofService(servers, services, 'operating_system'),
    golden: `select m.operating_system from customer_services v join servers m on m.id = v.server_id
      where v.domain = 'blog.fahrradhaus-ehlers.example'`,
  },
  {
    id: 'services-on-web04',
    language: 'de',
    kind: 'steps',
    text: 'Wie viele aktive Dienste laufen auf web04.nrt1.hosting.example?',
    plan: [
      ['list-servers-tool', { fields: ['id', 'hostname'] }],
      [
        'list-services-tool',
        (servers) => ({
          ...on(servers, 'web04.nrt1.hosting.example'),
          status: 'active',
          per_page: 1,
          fields: ['id'],
        }),
      ],
    ],
    figure: ({ total }) => total,
    golden: `select count(*)::int from customer_services v join servers m on m.id = v.server_id
      where m.hostname = 'web04.nrt1.hosting.example' and v.status = 'active'`,
  },
  {
    id: 'customers-on-win03',
    language: 'en',
    kind: 'steps',
    text: 'Whom do we have to tell when win03.iad1.hosting.example restarts, that is, who has active services on it? (customer numbers)',
    plan: [
      ['list-servers-tool', { fields: ['id', 'hostname'] }],
      [
        'list-services-tool',
        (servers) => ({
          ...on(servers, 'win03.iad1.hosting.example'),
          status: 'active',
          fields: ['customer.customer_number'],
        }),
      ],
    ],
    figure: ({ data }) => [...new Set(data.map(({ customer }) => customer.customer_number))],
    golden: `select array_agg(distinct c.customer_number) from customer_services v
      join servers m on m.id = v.server_id join customers c on c.id = v.customer_id
      where m.hostname = 'win03.iad1.hosting.example' and v.status = 'active'`,
  },
  {
    id: 'debian-servers',
    language: 'en',
    kind: 'total',
    text: 'How many of our servers run Debian, of any version?',
    plan: [['list-servers-tool', { fields: ['operating_system'] }]],
    figure: ({ data }) => data.filter(({ operating_system }) => operating_system.startsWith('Debian')).length,
    golden: `select count(*)::int from servers where operating_system like 'Debian%'`,
  },
  {
    id: 'offline-servers',
    language: 'de',
    kind: 'lookup',
    text: 'Welche Server sind gerade offline? (Hostnamen)',
    plan: [['list-servers-tool', { fields: ['hostname', 'status'] }]],
    figure: ({ data }) => data.filter(({ status }) => status === 'offline').map(({ hostname }) => hostname),
    golden: `select array_agg(hostname) from servers where status = 'offline'`,
  },
  {
    id: 'server-of-an-address',
    language: 'en',
    kind: 'lookup',
    text: 'Which server has the address 203.0.113.46? (host name)',
    plan: [['list-servers-tool', { fields: ['hostname', 'ipv4'] }]],
    figure: ({ data }) =>
      only(
        data.filter(({ ipv4 }) => ipv4.includes('203.0.113.46')),
        ({ hostname }) => hostname,
      ),
    golden: `select hostname from servers where '203.0.113.46' = any (ipv4)`,
  },
  {
    id: 'cores-in-frankfurt',
    language: 'de',
    kind: 'total',
    text: 'Wie viele CPU-Kerne haben unsere Server in Frankfurt am Main zusammen, gleich in welchem Status?',
    plan: [['list-servers-tool', { fields: ['location', 'cpu_cores'] }]],
    figure: ({ data }) =>
      data
        .filter(({ location }) => location.startsWith('Frankfurt'))
        .reduce((total, { cpu_cores }) => total + cpu_cores, 0),
    golden: `select sum(cpu_cores)::int from servers where location like 'Frankfurt%'`,
  },
  {
    id: 'no-server-in-berlin',
    language: 'de',
    kind: 'none',
    text: 'Welches Betriebssystem läuft auf web09.ber1.hosting.example?',
    plan: [['list-servers-tool', { fields: ['hostname', 'operating_system'] }]],
    figure: ({ data }) =>
      only(
        data.filter(({ hostname }) => hostname === 'web09.ber1.hosting.example'),
        ({ operating_system }) => operating_system,
      ),
    golden: `select operating_system from servers where hostname = 'web09.ber1.hosting.example'`,
  },
  {
    id: 'free-space-on-db01',
    language: 'de',
    kind: 'cannot tell',
    text: 'Wie viel Speicherplatz ist auf db01.fra2.hosting.example noch frei?',
    plan: [],
    missing: 'free_|disk_|usage|used_gb',
  },
  {
    id: 'hidden-services-on-db05',
    language: 'de',
    kind: 'hidden',
    text: 'Wie viele Dienste auf db05.iad1.hosting.example sind aktiv?',
    plan: [
      ['list-servers-tool', { fields: ['id', 'hostname'] }],
      [
        'list-services-tool',
        (servers) => ({
          ...on(servers, 'db05.iad1.hosting.example'),
          status: 'active',
          fields: ['service_number', 'name'],
        }),
      ],
    ],
    figure: ({ total }) => total,
    golden: `select count(*)::int from customer_services v join servers m on m.id = v.server_id
      where m.hostname = 'db05.iad1.hosting.example' and v.status = 'active'`,
  },
];
