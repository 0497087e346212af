import { temporaryFolder } from '../../dev/children';

// n8n's engine writes a file to n8n's folder as soon as it is loaded; import this first.
process.env.N8N_USER_FOLDER = temporaryFolder('home');
