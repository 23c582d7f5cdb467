// The benchmark's server on uWebSockets.js: the module named as argument.

import { serve } from './serve.js';

const module = await import(process.argv[2]);
serve(module.default ?? module);
