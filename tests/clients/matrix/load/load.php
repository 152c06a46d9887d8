<?php
// Loads every class of the client; whatever PHP has to say of one is an error.

[, $guzzle, $folder] = $argv;
require $guzzle;
error_reporting(E_ALL);
set_error_handler(function (int $level, string $message, string $file, int $line): bool {
    throw new ErrorException("$message in $file:$line");
});
spl_autoload_register(function (string $class) use ($folder): void {
    $path = $folder . strtr(substr($class, strlen('OpenAPI\\Client')), '\\', '/') . '.php';
    if (str_starts_with($class, 'OpenAPI\\Client\\') && is_file($path)) {
        require_once $path;
    }
});
$files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder));
foreach ($files as $file) {
    if ($file->getExtension() === 'php') {
        require_once $file->getPathname();
    }
}
