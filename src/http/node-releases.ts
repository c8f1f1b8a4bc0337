/** The releases of Node.js for which native builds are known, by their ABI. */
export const NODE_RELEASES: Readonly<Record<string, string>> = {
  '115': '20',
  '127': '22',
  '137': '24',
  '141': '25',
};
