import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // A proxy may serve the gateway under a path of its own.
  base: './',
  // The content security policy allows nothing inline, so everything is a file of its own.
  build: {
    outDir: '../../../dist/src/key-page',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
});
