import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // A proxy may serve the gateway below a path of its own.
  base: './',
  // The content security policy allows nothing inline: everything is a file of its own.
  build: {
    outDir: '../../../dist/src/key-page',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
});
