import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// n8n's engine writes a file to n8n's folder as soon as it is loaded; import this first.
process.env.N8N_USER_FOLDER = mkdtempSync(join(tmpdir(), 'pay-home-'));
