// All of the public API.
#pragma once

#include "millrace/app.h"
#include "millrace/error.h"
#include "millrace/field.h"
#include "millrace/http_error.h"
#include "millrace/limits.h"
#include "millrace/loop.h"
#include "millrace/request.h"
#include "millrace/response.h"
#include "millrace/server.h"
