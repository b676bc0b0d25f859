import { z } from 'zod';
import { serverStatus } from '@/db/schema';

export const serverRow = z.object({
  id: z.int(),
  hostname: z.string(),
  ipv4: z.array(z.string()),
  ipv6: z.array(z.string()),
  stack: z.string().nullable(),
  operating_system: z.string().nullable(),
  cpu: z.string().nullable(),
  cpu_cores: z.int().nullable(),
  ram_gb: z.int().nullable(),
  storage: z.string().nullable(),
  control_panel: z.string().nullable(),
  location: z.string().nullable(),
  status: z.enum(serverStatus.enumValues),
});

export type ServerRow = z.infer<typeof serverRow>;
