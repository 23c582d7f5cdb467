// The benchmark's server on Millrace: this checkout's, or the module named as argument.

import { serve } from './serve.js';

const module = await import(process.argv[2] ?? 'millrace');
serve(module.default ?? module);
