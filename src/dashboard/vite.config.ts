import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // The content security policy allows nothing inline, so everything is a file of its own.
  build: {
    outDir: '../../dist/src/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
});
