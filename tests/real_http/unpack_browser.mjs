// Unpacks the browser of @sparticuz/chromium, with the libraries that a bare machine lacks, into the folder that TMPDIR names.
//
//   AWS_EXECUTION_ENV=AWS_Lambda_nodejs22.x TMPDIR=FOLDER node unpack_browser.mjs
//
// The package was made for AWS Lambda and unpacks the libraries only where it believes to run; the browser itself is an ordinary one.

const { default: chromium } = await import("@sparticuz/chromium");
await chromium.executablePath();
