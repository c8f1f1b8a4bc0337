/** The releases of Node.js that there are known native builds for, by their ABI. */
export const NODE_RELEASES: Readonly<Record<string, string>> = {
  '115': '20',
  '127': '22',
  '137': '24',
  '141': '25',
};
